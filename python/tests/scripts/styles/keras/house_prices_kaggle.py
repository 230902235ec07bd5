#!/usr/bin/env python
# coding: utf-8

# # House prices: a simple neural network
# 
# **Please upvote if you find it useful!**

# In[1]:


import numpy as np # linear algebra
import pandas as pd # data processing, CSV file I/O (e.g. pd.read_csv)

# Input data files are available in the read-only "../input/" directory
import os
for dirname, _, filenames in os.walk('/kaggle/input'):
    for filename in filenames:
        print(os.path.join(dirname, filename))


# In[2]:


np.random.seed(2018)
train = pd.DataFrame(np.random.rand(260, 5), columns=['LotArea', 'OverallQual', 'YearBuilt', 'GrLivArea', 'GarageCars'])
train['SalePrice'] = 120000 + 90000 * train['OverallQual'] + 60000 * train['GrLivArea'] + 5000 * np.random.randn(260)
train.describe()


# In[3]:


# get_ipython().run_line_magic('matplotlib', 'inline')
y = np.log1p(train.pop('SalePrice'))
mean = train.mean(axis=0)
std = train.std(axis=0)
X = (train - mean) / std


# In[4]:


from sklearn.model_selection import train_test_split
X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.25, random_state=1)


# In[5]:


from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense, Dropout, BatchNormalization, LeakyReLU
from tensorflow.keras.callbacks import EarlyStopping, ModelCheckpoint, ReduceLROnPlateau
from tensorflow.keras.regularizers import l1_l2

def build_model():
    model = Sequential([
        Dense(32, kernel_regularizer=l1_l2(l1=1e-5, l2=1e-4), input_shape=[X_train.shape[1]]),
        BatchNormalization(),
        LeakyReLU(),
        Dropout(0.1),
        Dense(16, activation='relu'),
        Dense(1)
    ])
    model.compile(loss='mean_squared_error', optimizer='rmsprop', metrics=['mae', 'mse'])
    return model

model = build_model()


# In[6]:


EPOCHS = 12
early = EarlyStopping(monitor='val_loss', patience=3, restore_best_weights=True)
history = model.fit(
    X_train, y_train,
    epochs=EPOCHS, batch_size=16,
    validation_data=(X_val, y_val),
    callbacks=[early], verbose=0)


# In[7]:


hist = pd.DataFrame(history.history)
hist['epoch'] = history.epoch
hist.tail()


# In[ ]:




