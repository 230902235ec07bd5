#!/usr/bin/env python
# coding: utf-8

# In[1]:


import torch
import torch.nn as nn
import torch.nn.functional as F
import numpy as np
# get_ipython().run_line_magic('matplotlib', 'inline')


# In[2]:


class Model(nn.Module):
    # Input layer (4 features) --> h1 (N) --> h2 (N) --> output (3 classes)
    def __init__(self, in_features=4, h1=8, h2=9, out_features=3):
        super().__init__() # instantiate our nn.Module
        self.fc1 = nn.Linear(in_features, h1)
        self.fc2 = nn.Linear(h1, h2)
        self.out = nn.Linear(h2, out_features)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        x = self.out(x)
        return x


# In[3]:


# Pick a manual seed for randomization
torch.manual_seed(41)
# Create an instance of model
model = Model()


# In[4]:


r = np.random.RandomState(41)
y = np.repeat([0, 1, 2], 50)
X = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]])[y] + 0.3 * r.randn(150, 4)
order = r.permutation(150)
X_train, X_test = torch.FloatTensor(X[order[:120]]), torch.FloatTensor(X[order[120:]])
y_train, y_test = torch.LongTensor(y[order[:120]]), torch.LongTensor(y[order[120:]])


# In[5]:


# Set the criterion of model to measure the error, how far off the predictions are from the data
criterion = nn.CrossEntropyLoss()
# Choose Adam Optimizer, lr = learning rate
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)


# In[6]:


# Train our model!
epochs = 60
losses = []
for i in range(epochs):
    # Go forward and get a prediction
    y_pred = model.forward(X_train) # Get predicted results

    # Measure the loss/error, gonna be high at first
    loss = criterion(y_pred, y_train) # predicted values vs the y_train

    # Keep Track of our losses
    losses.append(loss.detach().numpy())

    # print every 10 epoch
    if i % 10 == 0:
        print(f'Epoch: {i} and loss: {loss}')

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# In[7]:


# Evaluate Model on Test Data Set (validate model on test set)
with torch.no_grad():  # Basically turn off back propogation
    y_eval = model.forward(X_test) # X_test are features from our test set, y_eval will be predictions
    loss = criterion(y_eval, y_test) # Find the loss or error
loss


# In[8]:


correct = 0
with torch.no_grad():
    for i, data in enumerate(X_test):
        y_val = model.forward(data)
        print(f'{i+1}.)  {str(y_val)} \t {y_test[i]} \t {y_val.argmax().item()}')
        if y_val.argmax().item() == y_test[i]:
            correct += 1
print(f'We got {correct} correct!')
